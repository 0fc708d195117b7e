import type { Readable } from 'node:stream'

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
