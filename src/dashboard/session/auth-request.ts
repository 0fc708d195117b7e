import { t } from '@lingui/core/macro'
import { describeWait } from '../ui/time.ts'

/** The endpoints of better-auth, separate from our procedures. */
const authPath = '/settings/auth'

export async function postSignIn(path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(authPath + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw await describe(response)
  return readBody(response)
}

async function describe(response: Response): Promise<SignInError> {
  if (response.status === 429)
    return tooManyAttempts(Number(response.headers.get('x-retry-after') ?? response.headers.get('retry-after')))
  if (response.status === 503) return new SignInError(t`The server is busy. Try again in a few seconds.`)
  const { code } = await readBody(response)
  switch (code) {
    case 'INVALID_EMAIL_OR_PASSWORD':
    case 'INVALID_EMAIL':
      return new SignInError(t`Incorrect email address or password.`, 'password')
    case 'INVALID_PASSWORD':
      return new SignInError(t`Incorrect password.`, 'currentPassword')
    case 'PASSWORD_TOO_SHORT':
      return new SignInError(t`Must have at least 12 characters.`, 'newPassword')
    case 'PASSWORD_TOO_LONG':
      return new SignInError(t`Must have at most 128 characters.`, 'newPassword')
    case 'INVALID_CODE':
      return new SignInError(t`Incorrect code. Enter the code that the app shows now.`, 'code')
    case 'INVALID_BACKUP_CODE':
      return new SignInError(t`This backup code is incorrect or was already used.`, 'code')
    case 'INVALID_TWO_FACTOR_COOKIE':
      return new PendingSignInExpired(t`Your sign-in expired after ten minutes. Enter your password again.`)
    case 'TOTP_NOT_ENABLED':
    case 'BACKUP_CODES_NOT_ENABLED':
      return new PendingSignInExpired(t`Your authenticator app was turned off in the meantime. Sign in again.`)
    case 'SECOND_FACTOR_REQUIRED':
      return new SignInError(
        t`Sign in again with your password and a code of your authenticator app first. If you lost the app, ask the operator of this server to reset it.`,
      )
    case 'INVALID_OAUTH_CONFIGURATION':
      return new SignInError(
        t`Your organisation did not respond. Try again in a moment. If the problem persists, contact your administrator.`,
      )
    case 'UNAUTHORIZED':
      return new SignInError(t`Your session has ended. Sign in again.`)
    case 'INVALID_ORIGIN':
      return new SignInError(
        t`The server does not recognise the address of this page. Ask your administrator to set WAYBILL_PUBLIC_URL to it.`,
      )
  }
  return new SignInError(t`The server could not complete the request. Try again in a moment.`)
}

function tooManyAttempts(seconds: number): SignInError {
  return new SignInError(t`Too many attempts. Try again in ${describeWait(seconds)}.`)
}

async function readBody(response: Response): Promise<Record<string, unknown>> {
  try {
    // `null` has no properties to spread.
    return { ...((await response.json()) as object | null) }
  } catch {
    return {}
  }
}

/** An error of sign-in or of a change of sign-in settings, with a message for the user. */
export class SignInError extends Error {
  readonly field: 'password' | 'currentPassword' | 'newPassword' | 'code' | undefined

  constructor(message: string, field?: SignInError['field']) {
    super(message)
    this.name = 'SignInError'
    this.field = field
  }
}

/** The password was correct but has expired and must be entered again. */
export class PendingSignInExpired extends SignInError {}
