import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { root } from './start-process.ts'

/** The bundled package that users install and run. */
export const builtServer = 'dist/src/cli/waybill.js'

export async function buildPackage(): Promise<void> {
  await promisify(execFile)(process.execPath, [path.join(root, 'src/packaging/build.ts')], { cwd: root })
}
