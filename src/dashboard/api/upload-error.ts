import type { ErrorCode } from '../../../contracts/errors.ts'

/** Apart from the upload, so that a page without one does not load its contract. */

/** Why an upload failed, in words for the user. */
export class UploadError extends Error {
  readonly code: ErrorCode | undefined

  constructor(message: string, code?: ErrorCode) {
    super(message)
    this.name = 'UploadError'
    this.code = code
  }
}
