import { postSignIn } from './sign-in-request.ts'

/** Whether a code of their authenticator app is still needed: until then nobody is signed in. */
export async function signIn(credentials: { email: string; password: string }): Promise<{ needsCode: boolean }> {
  const { twoFactorRedirect } = await postSignIn('/sign-in/email', credentials)
  return { needsCode: twoFactorRedirect === true }
}

export function signOut(): Promise<unknown> {
  return postSignIn('/sign-out', {})
}

/** Ends every other session of this person. */
export function changePassword(passwords: { currentPassword: string; newPassword: string }): Promise<unknown> {
  return postSignIn('/change-password', passwords)
}
