import { SignInError } from './sign-in-error.ts'

/** Sessions are better-auth's: three addresses of its own, beside the procedures. */
const authPath = '/settings/auth'

export function signIn(credentials: { email: string; password: string }): Promise<void> {
  return post('/sign-in/email', credentials)
}

export function signOut(): Promise<void> {
  return post('/sign-out', {})
}

/** Ends every other session of this person. */
export function changePassword(passwords: { currentPassword: string; newPassword: string }): Promise<void> {
  return post('/change-password', passwords)
}

async function post(path: string, body: object): Promise<void> {
  const response = await fetch(authPath + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw await describe(response)
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

async function readBody(response: Response): Promise<{ code?: unknown }> {
  try {
    return await response.json()
  } catch {
    return {}
  }
}
