import { SignInError } from './sign-in-error.ts'

/** Sessions are better-auth's: three addresses of its own, beside the procedures. */
const authPath = '/settings/auth'

/** Whether a code of their authenticator app is still needed: until then nobody is signed in. */
export async function signIn(credentials: { email: string; password: string }): Promise<{ needsCode: boolean }> {
  const answer = await post('/sign-in/email', credentials)
  return { needsCode: answer.twoFactorRedirect === true }
}

/** The second step of a sign-in: six digits are of the app, anything else is a backup code. */
export function signInWithCode(code: string): Promise<unknown> {
  return post(/^\d{6}$/.test(code) ? '/two-factor/verify-totp' : '/two-factor/verify-backup-code', { code })
}

export function signOut(): Promise<unknown> {
  return post('/sign-out', {})
}

/** Ends every other session of this person. */
export function changePassword(passwords: { currentPassword: string; newPassword: string }): Promise<unknown> {
  return post('/change-password', passwords)
}

interface Answer {
  /** Of a failure. */
  code?: unknown
  twoFactorRedirect?: unknown
}

async function post(path: string, body: object): Promise<Answer> {
  const response = await fetch(authPath + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw await describe(response)
  return readBody(response)
}

async function describe(response: Response): Promise<SignInError> {
  if (response.status === 429) return tooManyTries(Number(response.headers.get('x-retry-after')))
  const { code } = await readBody(response)
  switch (code) {
    case 'INVALID_EMAIL_OR_PASSWORD':
    case 'INVALID_EMAIL':
      return new SignInError('The e-mail address or the password is wrong.', 'password')
    case 'INVALID_PASSWORD':
      return new SignInError('This is not your current password.', 'currentPassword')
    case 'PASSWORD_TOO_SHORT':
      return new SignInError('Must have at least 12 characters.', 'newPassword')
    case 'PASSWORD_TOO_LONG':
      return new SignInError('Must have at most 128 characters.', 'newPassword')
    case 'INVALID_CODE':
    case 'INVALID_BACKUP_CODE':
      return new SignInError('This code is wrong, or it was used or has expired.', 'code')
    case 'INVALID_TWO_FACTOR_COOKIE':
      return new SignInError('That took too long. Load this page again and sign in anew.')
    case 'UNAUTHORIZED':
      return new SignInError('Your session has ended. Sign in again.')
    case 'INVALID_ORIGIN':
      return new SignInError(
        'The request was refused: this page was opened at an address that the server does not know.',
      )
  }
  return new SignInError('The server could not do this now. Try again in a moment.')
}

function tooManyTries(seconds: number): SignInError {
  const wait = seconds > 0 ? `${seconds} ${seconds === 1 ? 'second' : 'seconds'}` : 'a minute'
  return new SignInError(`Too many tries. Wait ${wait}, then try again.`)
}

async function readBody(response: Response): Promise<Answer> {
  try {
    return (await response.json()) ?? {}
  } catch {
    return {}
  }
}
