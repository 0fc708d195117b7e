// Plain JavaScript, because it runs on any Node version that the machine has.
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Restores `node_modules/.bin/node`. npm 10 removes it together with the Node packages of other platforms, because they all
 * share this name. npm 11 keeps it.
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
