import { setFlagsFromString } from 'node:v8'

/**
 * Limits of V8 while a server loads its modules. Nothing runs often enough then to repay the optimizing compilers, and
 * a young generation that grows for modules, which stay, never shrinks again: together they would keep 40 MB.
 */
const limits = ['--no-opt', '--no-maglev', '--semi-space-growth-factor=1']
const defaults = ['--opt', '--maglev', '--semi-space-growth-factor=2']

const servers: ReadonlySet<string | undefined> = new Set(['serve', 'sandbox'])

/** Called with the command line before anything else is loaded. */
export function limitStart([command]: readonly string[]): void {
  if (servers.has(command)) limits.forEach(setFlagsFromString)
}

/** From now on requests arrive: V8 optimizes and grows as usual. */
export function endStart(): void {
  defaults.forEach(setFlagsFromString)
}
