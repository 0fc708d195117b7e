// Plain JavaScript for whatever Node the machine has.
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * npm 10 installs the Node of this platform, drops those of the others, and with them the name `node`
 * in `.bin`, which is the same for all of them. npm 11 keeps it, and then there is nothing to do.
 */
const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url))
const link = path.join(modules, '.bin', 'node')
const installed = ['node', 'node-bin']
  .map((name) => `${name}-${process.platform}-${process.arch}`)
  .find((name) => existsSync(path.join(modules, name, 'bin', 'node')))

if (installed !== undefined && !existsSync(link)) {
  mkdirSync(path.dirname(link), { recursive: true })
  symlinkSync(path.join('..', installed, 'bin', 'node'), link)
}
