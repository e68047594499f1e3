/**
 * The addresses of the public network: not this machine, its neighbours, and the metadata services of clouds (IANA's registries
 * of special-purpose addresses).
 */
import { BlockList, isIPv4, isIPv6 } from "node:net";

const notPublic4 = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const;

/** All public addresses are in this range, except those that stand for one of IPv4. */
const global6 = ["2000::", 3] as const;
const notPublic6 = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const;

const closed4 = new BlockList();
for (const [address, prefix] of notPublic4) closed4.addSubnet(address, prefix, "ipv4");
const open6 = new BlockList();
open6.addSubnet(...global6, "ipv6");
const closed6 = new BlockList();
for (const [address, prefix] of notPublic6) closed6.addSubnet(address, prefix, "ipv6");

/** Returns true if a text is an IP address of the public network. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !closed4.check(address, "ipv4");
  // A zone belongs to addresses of a link.
  if (!isIPv6(address) || address.includes("%")) return false;
  return open6.check(address, "ipv6") && !closed6.check(address, "ipv6");
}
