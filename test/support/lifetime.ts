import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, onTestFinished } from 'vitest'
import { patience } from './patience.ts'

/** What `forFile` and `forTest` close, stop or remove. */
type Closable = { close: () => unknown } | { stop: () => unknown } | { remove: () => unknown }

/**
 * Closes what the tests of a file share after the last of them, before what the file started earlier. Vitest limits
 * the time of hooks but not that of the top level of a file, so starting has the limit of a hook here.
 */
export async function forFile<Resource extends Closable>(starting: Promise<Resource> | Resource): Promise<Resource> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('The set-up of the file did not end')), patience.hookTimeout)
  const resource = await Promise.race([starting, late]).finally(() => clearTimeout(timer))
  afterAll(() => close(resource))
  return resource
}

/** Closes what one test uses when it ends, also if it fails. */
export async function forTest<Resource extends Closable>(starting: Promise<Resource> | Resource): Promise<Resource> {
  const resource = await starting
  onTestFinished(() => close(resource))
  return resource
}

/** A new folder for the tests of a file. */
export async function folderForFile(): Promise<string> {
  return (await forFile(createFolder())).folder
}

/** A new folder for one test. */
export async function folderForTest(): Promise<string> {
  return (await forTest(createFolder())).folder
}

async function createFolder() {
  const folder = await mkdtemp(path.join(tmpdir(), 'waybill-test-'))
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) }
}

async function close(resource: Closable): Promise<void> {
  if ('close' in resource) await resource.close()
  else await ('stop' in resource ? resource.stop() : resource.remove())
}
