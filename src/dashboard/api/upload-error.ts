import type { ErrorCode } from '../../../contracts/errors.ts'

/** In a separate file, so that pages without an upload do not load the upload contract. */

/** An upload error with a message for the user. */
export class UploadError extends Error {
  readonly code: ErrorCode | undefined

  constructor(message: string, code?: ErrorCode) {
    super(message)
    this.name = 'UploadError'
    this.code = code
  }
}
