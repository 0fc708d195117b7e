import { existsSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

/** Loads a module from a checkout, whose code fits its own schema. Tries the given paths in order. */
export function load<Module>(checkout: string, ...files: string[]): Promise<Module> {
  const candidates = files.map((file) => path.resolve(checkout, 'test/bench', file))
  const found = candidates.find((candidate) => existsSync(candidate))
  if (found === undefined) throw new Error(`${checkout} contains none of ${files.join(', ')}`)
  return import(pathToFileURL(found).href) as Promise<Module>
}
