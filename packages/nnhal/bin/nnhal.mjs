#!/usr/bin/env node
/** The command line. */
import "@nnhal/cli/main";
