import { useQuery } from '@tanstack/react-query'
import { settings } from '../api/settings.ts'
import { postSignIn, SignInError } from './auth-request.ts'

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

/**
 * Leads to the organisation's provider, which leads back to `to`, or to the sign-in page with an `error`. It
 * is not done until the page goes away, or is shown again because the person came back.
 */
export async function signInWithOrganisation(to: string): Promise<void> {
  const { url } = await postSignIn('/sign-in/oauth2', {
    providerId: 'oidc',
    callbackURL: `/settings${to}`,
    errorCallbackURL: `/settings${signInPath(to)}`,
  })
  if (typeof url !== 'string')
    throw new SignInError('The server could not complete the request. Try again in a moment.')
  const shownAgain = new Promise<void>((resolve) => addEventListener('pageshow', () => resolve(), { once: true }))
  location.assign(url)
  return shownAgain
}

/** Whether an organisation's own provider is there to sign in with; without an answer, as if there were none. */
export function useSignInOptions(): { organisation: string | undefined; isPending: boolean } {
  const { data, isPending } = useQuery({
    queryKey: ['sign-in-options'],
    queryFn: () => settings.session.options.query({}),
    // It is set up when the server starts.
    staleTime: Infinity,
  })
  return { organisation: data?.organisation, isPending }
}

/** The sign-in page, and where it leads afterwards. */
export function signInPath(to: string): string {
  return to === '/' ? '/sign-in' : `/sign-in?${new URLSearchParams({ to })}`
}

/** Only a page of ours: whoever made the link might lead elsewhere. */
export function readWayBack(search: URLSearchParams): string {
  const to = search.get('to') ?? '/'
  return /^\/(?![/\\])/.test(to) ? to : '/'
}

/** The state with which another page leads to the sign-in page when the password was right, and not enough. */
export const codeNeeded = 'code-needed'
