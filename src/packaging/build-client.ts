import { execFileSync } from 'node:child_process'
import { copyFile, glob, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Builds `src/client/dist/` for the package `waybill-client`: the sources as ES modules and as CommonJS, each with its own
 * declarations. They are not bundled, because a bundle would repeat the contracts in every entry.
 */
const root = path.resolve(import.meta.dirname, '../..')
const client = path.join(root, 'src/client')
const dist = path.join(client, 'dist')

await rm(dist, { recursive: true, force: true })
compile('tsconfig.json')
compile('tsconfig.cjs.json')
await writeFile(path.join(dist, 'cjs/package.json'), '{ "type": "commonjs" }\n')
await shareTemplates()
await nameCompiledFiles()
await copyFile(path.join(root, 'LICENSE'), path.join(client, 'LICENSE'))

function compile(project: string): void {
  const tsc = path.join(path.dirname(fileURLToPath(import.meta.resolve('typescript/package.json'))), 'bin/tsc')
  execFileSync(process.execPath, [tsc, '-p', project], { cwd: client, stdio: 'inherit' })
}

/** Makes both formats share the interface `ApprovedTemplates`, because a project extends it only once. */
async function shareTemplates(): Promise<void> {
  await writeFile(
    path.join(dist, 'esm/src/client/templates.d.ts'),
    "export * from '../../../cjs/src/client/templates.js'\n",
  )
}

/** Rewrites `.ts` extensions of imports in declarations, which the compiler only does in JavaScript. */
async function nameCompiledFiles(): Promise<void> {
  for await (const file of glob('**/*.d.ts', { cwd: dist })) {
    const declarations = await readFile(path.join(dist, file), 'utf8')
    await writeFile(
      path.join(dist, file),
      declarations.replaceAll(/((?:from |import\()["']\.[^"']*)\.ts(["'])/g, '$1.js$2'),
    )
  }
}
