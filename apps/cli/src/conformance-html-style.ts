/**
 * Style of the pages of `nnhal conformance --html` and `nnhal bench --html`: light or dark as its reader's system is, in one column on a telephone.
 */
export const style = `
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #fff; --text: #1b1f24; --soft: #5c6570; --line: #dfe3e8;
  --passed: #1a7f4b; --failed: #c8322b; --unsupported: #4a6484; --skipped: #7a828c; --link: #1257a8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171b; --card: #1d2126; --text: #e6e9ed; --soft: #9aa4af; --line: #333a42;
    --passed: #4cc38a; --failed: #ff7a70; --unsupported: #93aecb; --skipped: #7f8994; --link: #7ab8ff;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
header, section { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 1.25rem; margin-bottom: 1rem; }
h1 { margin: 0; font-size: 1.9rem; line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin: 0 0 .75rem; font-size: 1.2rem; display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }
small { font-size: .8rem; font-weight: normal; display: flex; flex-wrap: wrap; gap: .35rem; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
.kind { margin: 0; color: var(--soft); font-size: .9rem; }
.verdict { margin: .35rem 0 1rem; font-size: 1.15rem; font-weight: 600; }
.verdict.passed, td.passed { color: var(--passed); }
.verdict.failed, td.failed { color: var(--failed); font-weight: 600; }
.verdict.unsupported, td.unsupported { color: var(--unsupported); }
.tiles { list-style: none; display: grid; grid-template-columns: repeat(4, 1fr); gap: .5rem; margin: 0 0 .75rem; padding: 0; }
.tiles li { border: 1px solid var(--line); border-left: 4px solid var(--soft); border-radius: .5rem; padding: .5rem .75rem; }
.tiles b { display: block; font-size: 1.4rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
.tiles span { color: var(--soft); font-size: .85rem; }
.tiles .passed { border-left-color: var(--passed); }
.tiles .failed { border-left-color: var(--failed); }
.tiles .unsupported { border-left-color: var(--unsupported); }
.tiles .none { border-left-color: var(--line); }
.tiles .none b { color: var(--soft); }
.bar { display: flex; gap: 2px; height: .5rem; border-radius: .25rem; overflow: hidden; background: var(--line); min-width: 6rem; }
.bar i { flex-basis: 0; }
.bar .passed { background: var(--passed); }
.bar .failed { background: var(--failed); min-width: 3px; }
.bar .unsupported { background: var(--unsupported); opacity: .45; }
.bar .skipped { background: var(--skipped); opacity: .3; }
dl { display: grid; grid-template-columns: auto 1fr; gap: .15rem 1rem; margin: 1rem 0 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .5rem; text-align: right; border-bottom: 1px solid var(--line); font-weight: normal; white-space: nowrap; }
th:first-child { text-align: left; }
thead th { color: var(--soft); font-size: .85rem; }
tbody tr:last-child > * { border-bottom: 0; }
td.none { color: var(--soft); }
td.wide { width: 30%; }
details { border-top: 1px solid var(--line); }
summary { cursor: pointer; padding: .45rem 0; }
summary .name, .subjects .name { margin-right: .5rem; font-weight: 600; }
.badge { display: inline-block; border: 1px solid currentColor; border-radius: 1rem; padding: 0 .55rem; margin-right: .3rem; font-size: .8rem; white-space: nowrap; }
.badge.passed { color: var(--passed); }
.badge.failed { color: var(--failed); }
.badge.unsupported { color: var(--unsupported); }
.badge.skipped { color: var(--skipped); }
.cases, .subjects, .why { list-style: none; margin: 0 0 .5rem; padding: 0; }
.cases li { display: flex; gap: .75rem; padding: .3rem 0 .3rem .25rem; border-top: 1px dotted var(--line); }
.cases div { min-width: 0; overflow-wrap: anywhere; }
.mark { flex: 0 0 7rem; font-size: .85rem; line-height: 1.75; }
.mark i { display: inline-block; width: 1.3rem; font-style: normal; }
.cases li:target { background: color-mix(in srgb, var(--failed) 12%, transparent); }
.cases .passed .mark { color: var(--passed); }
.cases .failed .mark { color: var(--failed); font-weight: 600; }
.cases .unsupported .mark { color: var(--unsupported); }
.cases .skipped .mark { color: var(--skipped); }
.reason { margin: .1rem 0 0; color: var(--soft); font-size: .9rem; white-space: pre-wrap; }
.failed .reason { color: var(--text); font-family: ui-monospace, monospace; font-size: .85rem; }
.of { color: var(--soft); font-size: .9rem; }
.change { font-weight: 600; }
.change.worse { color: var(--failed); }
.change.better { color: var(--passed); }
.change.other { color: var(--soft); }
.legend { color: var(--soft); font-size: .9rem; margin: .25rem 0 .75rem; }
.error { width: 3.2rem; height: .5rem; vertical-align: middle; }
.error .room { fill: var(--line); }
.error .passed { fill: var(--passed); }
.error .failed { fill: var(--failed); }
.error .limit { fill: var(--text); }
.error .before { fill: var(--link); }
.precision th, .precision td { padding: .2rem .4rem; font-size: .78rem; text-align: left; vertical-align: top; }
.precision tbody th { position: sticky; left: 0; background: var(--card); font-weight: 600; }
.precision td { min-width: 5.1rem; }
.precision thead th { white-space: normal; vertical-align: bottom; }
.precision td .error { display: block; width: 4.3rem; margin: .25rem 0 .1rem; }
.precision td span { color: var(--soft); }
.precision td span.failed { color: var(--failed); font-weight: 600; }
.precision td b { font-size: .7rem; margin-left: .2rem; }
.subjects li, .why li { padding: .15rem 0 .15rem .25rem; overflow-wrap: anywhere; }
footer { color: var(--soft); font-size: .85rem; padding: 0 .25rem; }
@media (max-width: 34rem) {
  main { padding: .75rem .5rem 2rem; }
  header, section { padding: 1rem .85rem; }
  .tiles { grid-template-columns: repeat(2, 1fr); }
  td.wide { display: none; }
  th, td { padding: .35rem .3rem; font-size: .9rem; }
  .precision tbody th { white-space: normal; overflow-wrap: anywhere; min-width: 6.5rem; }
  .cases li { gap: .25rem; }
  .mark { flex-basis: 1.3rem; }
  .mark span { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
}
@media print {
  body { background: #fff; }
  header, section { break-inside: avoid-page; border-color: #ccc; }
}
`;
