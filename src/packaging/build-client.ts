import { execFileSync } from 'node:child_process'
import { copyFile, glob, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'

/**
 * Builds `src/client/dist/` for the package `waybill-client`: the sources as ES modules and as CommonJS, each with its own
 * declarations. They are not bundled, because a bundle would repeat the contracts in every entry. With `--pack FILE`, it
 * writes the whole package to an archive instead, and changes nothing else.
 */
const root = path.resolve(import.meta.dirname, '../..')
const client = path.join(root, 'src/client')
const {
  values: { pack },
} = parseArgs({ options: { pack: { type: 'string' } } })
const folder = pack === undefined ? client : await mkdtemp(path.join(tmpdir(), 'waybill-client-'))
const dist = path.join(folder, 'dist')
/** Of a tar archive. */
const blockBytes = 512

await rm(dist, { recursive: true, force: true })
compile('tsconfig.json', 'esm')
compile('tsconfig.cjs.json', 'cjs')
await writeFile(path.join(dist, 'cjs/package.json'), '{ "type": "commonjs" }\n')
await shareTemplates()
await nameCompiledFiles()
await copyFile(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'))
if (pack !== undefined) {
  await writeArchive(pack)
  await rm(folder, { recursive: true })
}

function compile(project: string, format: string): void {
  const tsc = path.join(path.dirname(fileURLToPath(import.meta.resolve('typescript/package.json'))), 'bin/tsc')
  const args = [tsc, '-p', project, '--outDir', path.join(dist, format)]
  execFileSync(process.execPath, args, { cwd: client, stdio: 'inherit' })
}

/** The files that `npm pack` would include. npm expects all of them in a folder with this name. */
async function writeArchive(file: string): Promise<void> {
  for (const name of ['package.json', 'README.md', 'CHANGELOG.md'])
    await copyFile(path.join(client, name), path.join(folder, name))
  const paths = await Array.fromAsync(glob('**/*.*', { cwd: folder, exclude: (name) => name === 'node_modules' }))
  const files = ['LICENSE', ...paths].map(async (name) => ({
    path: `package/${name.replaceAll(path.sep, '/')}`,
    content: await readFile(path.join(folder, name)),
  }))
  await writeFile(file, createTarball(await Promise.all(files)))
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

interface TarFile {
  /** At most 100 bytes. */
  path: string
  content: Buffer
}

/** Creates a .tar.gz archive (POSIX ustar). The same files always give the same bytes, so that its hash identifies it. */
function createTarball(files: readonly TarFile[]): Buffer {
  const sorted = files.toSorted((one, other) => (one.path < other.path ? -1 : 1))
  const blocks = sorted.flatMap((file) => [
    writeHeader(file),
    file.content,
    Buffer.alloc(-file.content.length & (blockBytes - 1)),
  ])
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * blockBytes)]), { level: 9 })
}

function writeHeader({ path, content }: TarFile): Buffer {
  if (Buffer.byteLength(path) > 100) throw new Error(`the path ${path} is too long for an archive`)
  const header = Buffer.alloc(blockBytes)
  const writeOctal = (value: number, offset: number, length: number) =>
    header.write(value.toString(8).padStart(length - 1, '0'), offset)
  header.write(path)
  writeOctal(0o644, 100, 8)
  writeOctal(0, 108, 8)
  writeOctal(0, 116, 8)
  writeOctal(content.length, 124, 12)
  writeOctal(0, 136, 12)
  // The checksum is the sum of all bytes, with spaces in its own place.
  header.write(' '.repeat(8), 148)
  header.write('0', 156)
  header.write('ustar\x0000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}
