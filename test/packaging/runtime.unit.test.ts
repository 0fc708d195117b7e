import { execFile } from 'node:child_process'
import { chmod, copyFile, lstat, mkdir, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { folderForTest } from '../support/lifetime.ts'

const script = path.join('src', 'packaging', 'runtime', 'link.js')
const repository = path.join(import.meta.dirname, '../..')
const installed = `node-${process.platform}-${process.arch}`

let root: string
let link: string

beforeEach(async () => {
  root = await folderForTest()
  link = path.join(root, 'node_modules/.bin/node')
  await mkdir(path.join(root, path.dirname(script)), { recursive: true })
  await copyFile(path.join(repository, script), path.join(root, script))
})

/** Installs a Node that is a shell script, behind the link that npm makes. */
async function install({ node, engines = '>=24' }: { node: string; engines?: string }): Promise<void> {
  const bin = path.join(root, 'node_modules', installed, 'bin')
  await mkdir(bin, { recursive: true })
  await mkdir(path.dirname(link), { recursive: true })
  await writeFile(path.join(root, 'package.json'), JSON.stringify({ type: 'module', engines: { node: engines } }))
  await writeFile(path.join(bin, 'node'), node)
  await chmod(path.join(bin, 'node'), 0o755)
  await symlink(path.join('..', installed, 'bin', 'node'), link)
}

function prepare(): Promise<{ code: number; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [path.join(root, script)], (error, _, stderr) => {
      resolve({ code: Number(error?.code ?? 0), stderr })
    })
  })
}

const exists = () =>
  lstat(link).then(
    () => true,
    () => false,
  )

const works = '#!/bin/sh\necho v24.0.0\n'
const lacksLibrary = `#!/bin/sh
echo "node: error while loading shared libraries: libatomic.so.1: cannot open shared object file: No such file or directory" >&2
exit 127
`

test('keeps the link to a Node that starts', async () => {
  await install({ node: works })

  expect(await prepare()).toEqual({ code: 0, stderr: '' })
  expect(await exists()).toBe(true)
})

test('restores a link that npm removed', async () => {
  await install({ node: works })
  await rm(link)

  expect(await prepare()).toEqual({ code: 0, stderr: '' })
  expect(await readlink(link)).toBe(path.join('..', installed, 'bin', 'node'))
})

test('replaces a link to a package that is no longer installed', async () => {
  await install({ node: works })
  await rm(link)
  await symlink('../node-earlier/bin/node', link)

  expect(await prepare()).toEqual({ code: 0, stderr: '' })
  expect(await readlink(link)).toBe(path.join('..', installed, 'bin', 'node'))
})

test('names a missing library and its Debian package in one sentence', async () => {
  await install({ node: lacksLibrary, engines: '>=99' })

  expect(await prepare()).toEqual({
    code: 1,
    stderr:
      'The Node that npm installed with this project needs libatomic.so.1, which is missing on this machine. ' +
      'Install it (Debian and Ubuntu: apt-get install libatomic1), or install Node 99 or newer, and run npm ci again.\n',
  })
})

test('asks for another Node on a system without the GNU C library', async () => {
  await install({ node: '#!/lib64/missing-loader\n', engines: '>=99' })

  expect(await prepare()).toEqual({
    code: 1,
    stderr:
      'The Node that npm installed with this project needs the GNU C library, which is missing on this machine. ' +
      'Install Node 99 or newer, and run npm ci again.\n',
  })
})

test('leaves scripts to a supported Node of the machine if the installed one does not start', async () => {
  await install({ node: lacksLibrary })

  expect(await prepare()).toEqual({ code: 0, stderr: '' })
  expect(await exists()).toBe(false)
})
