import { createReadStream } from 'node:fs'
import { copyFile, open, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { AwsV4Signer } from 'aws4fetch'
import type { Dispatcher } from 'undici'
import type { S3Config } from '../platform/config.ts'
import { codeOf } from '../platform/error-code.ts'
import { createOwnedFolder, giveToOwnerOf } from '../platform/files.ts'
import type { ProxySettings } from '../platform/proxy.ts'
import { createPool, requestThrough } from '../platform/undici.ts'

/** Keeps the bytes of uploaded files under their IDs. Every failure is a `StoreUnavailableError`. */
export interface ObjectStore {
  /** Stores a file atomically. It may move the file. */
  put(key: string, file: StoredFile): Promise<void>
  /** Undefined if there is no such file. */
  open(key: string): Promise<Readable | undefined>
  /** Does nothing if there is no such file. */
  delete(key: string): Promise<void>
  close(): Promise<void>
}

export interface StoredFile {
  path: string
  size: number
  /** Hexadecimal digits. */
  sha256: string
  type: string
}

export class StoreUnavailableError extends Error {
  constructor(cause: unknown) {
    super('the object store is unavailable', { cause })
    this.name = 'StoreUnavailableError'
  }
}

/** Keeps files in a folder of this machine, or in one that several machines share. */
export function createFolderStore(root: string): ObjectStore {
  return {
    put: (key, file) =>
      orUnavailable(async () => {
        const target = pathOf(root, key)
        await createOwnedFolder(path.dirname(target))
        await moveTo(file.path, target)
        await giveToOwnerOf(path.dirname(target), target)
      }),
    open: (key) =>
      orUnavailable(async () => {
        const handle = await open(pathOf(root, key), 'r').catch((error: unknown) => {
          if (codeOf(error) === 'ENOENT') return undefined
          throw error
        })
        return handle && createReadStream('', { fd: handle })
      }),
    delete: (key) =>
      orUnavailable(async () => {
        const target = pathOf(root, key)
        await rm(target, { force: true })
        await rm(partOf(target), { force: true })
      }),
    close: () => Promise.resolve(),
  }
}

/** Uses the end of the ID, which is random, as a subfolder, so that no folder contains too many files. */
function pathOf(root: string, key: string): string {
  if (!/^[a-z]+_[0-9a-z]{26}$/.test(key)) throw new Error('invalid key of a stored file')
  return path.join(root, key.slice(-2), key)
}

/** A copy that is not complete yet. It remains if the process is killed, or if the disk is full. */
function partOf(target: string): string {
  return `${target}.part`
}

/** Flushes the file before the rename, so that a crash leaves a complete file or none. */
async function moveTo(source: string, target: string): Promise<void> {
  await flush(source)
  try {
    await rename(source, target)
  } catch (error) {
    if (codeOf(error) !== 'EXDEV') throw error
    // Another file system: a copy beside the target is renamed instead.
    const copy = partOf(target)
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

/** SHA-256 of an empty body, which a request without a body must contain (AWS, "Signature calculations"). */
const emptyHash = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
/** A read fails before a send stops waiting for its file, so that the error names the store. */
const defaultTimeouts = { connect: 5_000, response: 30_000, read: 15_000, whole: 5 * 60_000 }
const maxConnections = 64
const maxDiscardedBytes = 64 * 1024

interface S3Request {
  method: 'GET' | 'PUT' | 'DELETE'
  key: string
  file?: StoredFile
}

/**
 * Keeps files in a bucket of an S3-compatible store. aws4fetch signs the requests, but undici sends them, because
 * `fetch` cannot send the length of a streamed file. The store compares the bytes with the signed hash.
 */
export function createS3Store(config: S3Config, proxies?: ProxySettings, timeouts = defaultTimeouts): ObjectStore {
  const pool = createPool(
    new URL(config.url).origin,
    {
      allowH2: false,
      connections: maxConnections,
      connect: { timeout: timeouts.connect },
      headersTimeout: timeouts.response,
      bodyTimeout: timeouts.response,
    },
    proxies,
  )

  async function send(request: S3Request): Promise<Dispatcher.ResponseData> {
    const { path, headers } = await sign(config, request)
    const body = request.file ? createReadStream(request.file.path) : null
    const limits =
      request.method === 'PUT'
        ? { signal: AbortSignal.timeout(timeouts.whole) }
        : { headersTimeout: timeouts.read, bodyTimeout: timeouts.read }
    return requestThrough(pool, { path, method: request.method, headers, body, ...limits })
  }

  /** Returns whether the store has the object. */
  async function succeed(request: S3Request): Promise<boolean> {
    try {
      const { statusCode, body } = await send(request)
      await discard(body)
      if (statusCode < 300) return true
      if (statusCode === 404 && request.method === 'DELETE') return false
      throw new Error(`the object store answered HTTP ${statusCode} to ${request.method}`)
    } catch (error) {
      throw new StoreUnavailableError(error)
    }
  }

  /** Reads a response, so that its connection can be used again. Only the status counts. */
  function discard(body: Dispatcher.ResponseData['body']): Promise<void> {
    return body.dump({ limit: maxDiscardedBytes, signal: AbortSignal.timeout(timeouts.connect) }).catch(() => {})
  }

  return {
    put: async (key, file) => void (await succeed({ method: 'PUT', key, file })),
    open: async (key): Promise<Readable | undefined> => {
      try {
        const { statusCode, body } = await send({ method: 'GET', key })
        if (statusCode === 200) return body
        await discard(body)
        if (statusCode === 404) return undefined
        throw new Error(`the object store answered HTTP ${statusCode} to GET`)
      } catch (error) {
        throw new StoreUnavailableError(error)
      }
    },
    delete: async (key) => void (await succeed({ method: 'DELETE', key })),
    close: () => pool.destroy(),
  }
}

async function sign({ url, prefix, region, accessKeyId, secretAccessKey }: S3Config, { method, key, file }: S3Request) {
  const signer = new AwsV4Signer({
    method,
    url: [url, prefix, key].filter((part) => part !== '').join('/'),
    headers: {
      'x-amz-content-sha256': file?.sha256 ?? emptyHash,
      ...(file && { 'content-type': file.type, 'content-length': String(file.size) }),
    },
    accessKeyId,
    secretAccessKey,
    service: 's3',
    region,
  })
  const { url: signed, headers } = await signer.sign()
  return {
    path: signed.pathname,
    headers: Object.fromEntries(headers),
  }
}
