import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { run } from './run.ts'

/** The TypeScript versions that the client package supports, oldest first. */
export const typescriptVersions = ['5.7.2', '5.8.3', '5.9.3', '6.0.2', '7.0.2'] as const
export type TypeScriptVersion = (typeof typescriptVersions)[number]

/** The package of the oldest Node that the client supports, for this platform. */
const oldestNode = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
const oldestNodeVersion = '20.20.2'

export interface Toolchains {
  tsc: (version: TypeScriptVersion) => string
  node20: string
}

/** Installs every compiler and the oldest Node into separate folders. */
export async function installToolchains(folder: string): Promise<Toolchains> {
  const compilers = typescriptVersions.map((version) => [`typescript-${version}`, `npm:typescript@${version}`] as const)
  const dependencies = Object.fromEntries([...compilers, [oldestNode, oldestNodeVersion]])
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }))
  await run(folder, 'npm', ['install', '--ignore-scripts'])
  const modules = path.join(folder, 'node_modules')
  return {
    tsc: (version) => path.join(modules, `typescript-${version}`, 'bin/tsc'),
    node20: path.join(modules, oldestNode, 'bin/node'),
  }
}
