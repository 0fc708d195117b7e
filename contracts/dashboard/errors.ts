import type { ErrorCode } from '../errors.ts'

/** What only the dashboard's procedures answer: no caller with an API key meets these. */
export const settingsErrors = {
  SIGN_IN_REQUIRED: { status: 401, summary: 'Nobody is signed in, or the session has ended.' },
  ROLE_REQUIRED: { status: 403, summary: "This person's role in the account does not allow the change." },
  VALIDATION_ERROR: { status: 400, summary: 'A field is missing or malformed.' },
  FOREIGN_ORIGIN: { status: 403, summary: 'The request came from another site than the dashboard.' },
  NOT_FOUND: { status: 404, summary: 'This account has nothing of that name or ID.' },
  SETTING_REFUSED: { status: 409, summary: 'The change does not fit the present state; the message says why.' },
} as const satisfies Record<string, { status: 400 | 401 | 403 | 404 | 409; summary: string }>

export type SettingsErrorCode = keyof typeof settingsErrors | ErrorCode

/** What an owner did or met. Its message is written for the person in front of the dashboard. */
export class SettingsError extends Error {
  readonly code: keyof typeof settingsErrors
  /** What is wrong with each field, by its dotted name, to be shown beside it. */
  readonly fields: Readonly<Record<string, string>> | undefined

  constructor(code: keyof typeof settingsErrors, message: string, fields?: Record<string, string>) {
    super(message)
    this.name = 'SettingsError'
    this.code = code
    this.fields = fields
  }
}

/** An error of the dashboard as it travels over tRPC. */
export interface SettingsErrorData {
  code: SettingsErrorCode
  httpStatus: number
  fields?: Readonly<Record<string, string>>
  /** Whole seconds after which a retry makes sense. */
  retryAfterSeconds?: number
}
