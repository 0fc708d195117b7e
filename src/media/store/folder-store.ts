import { createReadStream } from 'node:fs'
import { copyFile, mkdir, open, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { type ObjectStore, StoreUnavailableError } from './object-store.ts'

/** Keeps files in a folder of this machine, or in one that several machines share. */
export function createFolderStore(root: string): ObjectStore {
  return {
    put: (key, file) =>
      orUnavailable(async () => {
        const target = pathOf(root, key)
        await mkdir(path.dirname(target), { recursive: true, mode: 0o700 })
        await moveTo(file.path, target)
      }),
    open: (key) =>
      orUnavailable(async () => {
        const handle = await open(pathOf(root, key), 'r').catch((error: unknown) => {
          if (hasCode(error, 'ENOENT')) return undefined
          throw error
        })
        return handle && createReadStream('', { fd: handle })
      }),
    delete: (key) => orUnavailable(() => rm(pathOf(root, key), { force: true })),
    close: () => Promise.resolve(),
  }
}

/** Uses the end of the ID, which is random, as a subfolder, so that no folder contains too many files. */
function pathOf(root: string, key: string): string {
  if (!/^[a-z]+_[0-9a-z]{26}$/.test(key)) throw new Error('invalid key of a stored file')
  return path.join(root, key.slice(-2), key)
}

/** Flushes the file before the rename, so that a crash leaves a complete file or none. */
async function moveTo(source: string, target: string): Promise<void> {
  await flush(source)
  try {
    await rename(source, target)
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error
    // Another file system: a copy beside the target is renamed instead.
    const copy = `${target}.part`
    await copyFile(source, copy)
    await flush(copy)
    await rename(copy, target)
  }
}

async function flush(file: string): Promise<void> {
  const handle = await open(file, 'r+')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function orUnavailable<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw new StoreUnavailableError(error)
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
