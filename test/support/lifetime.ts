import { afterAll, onTestFinished } from 'vitest'
import { patience } from './patience.ts'

/** What `forFile` and `forTest` close or stop. */
type Closable = { close: () => unknown } | { stop: () => unknown }

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

async function close(resource: Closable): Promise<void> {
  await ('close' in resource ? resource.close() : resource.stop())
}
