import { t } from '@lingui/core/macro'
import { useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { postSignIn, SignInError } from './auth-request.ts'

/** Returns whether a code from the authenticator app is needed to complete the sign-in. */
export async function signIn(credentials: { email: string; password: string }): Promise<{ needsCode: boolean }> {
  const { twoFactorRedirect } = await postSignIn('/sign-in/email', credentials)
  return { needsCode: twoFactorRedirect === true }
}

export function signOut(): Promise<unknown> {
  return postSignIn('/sign-out', {})
}

/** Ends all other sessions of the user. */
export function changePassword(passwords: { currentPassword: string; newPassword: string }): Promise<unknown> {
  return postSignIn('/change-password', passwords)
}

/**
 * Navigates to the organisation's provider, which redirects to `to`, or to the sign-in page with an `error`. Resolves only
 * if the user navigates back to this page.
 */
export async function signInWithOrganisation(to: string): Promise<void> {
  const { url } = await postSignIn('/sign-in/oauth2', {
    providerId: 'oidc',
    callbackURL: toCallbackUrl(to),
    errorCallbackURL: toCallbackUrl(signInPath(to)),
  })
  if (typeof url !== 'string')
    throw new SignInError(t`The server could not complete the request. Try again in a moment.`)
  const shownAgain = new Promise<void>((resolve) => addEventListener('pageshow', () => resolve(), { once: true }))
  location.assign(url)
  return shownAgain
}

/** A URL of the dashboard as better-auth accepts it: without a fragment, and with few characters in the query. */
function toCallbackUrl(path: string): string {
  const { pathname, search } = new URL(path, location.origin)
  const query = search.slice(1).replaceAll(/[^\w\-.+/=&%@]/g, (character) => `%${character.charCodeAt(0).toString(16)}`)
  return `/settings${pathname}${query === '' ? '' : `?${query}`}`
}

interface SignInOptions {
  /** The organisation's provider; undefined if there is none or the request failed. */
  organisation: string | undefined
  /** Whether a forgotten password is reset by email. */
  resetsByEmail: boolean
  sandbox: boolean
  isPending: boolean
  /** Why the others are unknown; null if they are known. */
  error: unknown
  refetch: () => unknown
}

export function useSignInOptions(): SignInOptions {
  const { data, isPending, error, refetch } = useQuery({
    queryKey: ['sign-in-options'],
    queryFn: () => api.session.options.query({}),
    // Only changes when the server restarts.
    staleTime: Infinity,
  })
  return {
    organisation: data?.organisation,
    resetsByEmail: data?.passwordReset === 'email',
    sandbox: data?.sandbox === true,
    isPending,
    error,
    refetch,
  }
}

/** The path of the sign-in page, with the page to open afterwards. */
export function signInPath(to: string): string {
  return to === '/' ? '/sign-in' : `/sign-in?${new URLSearchParams({ to })}`
}

/** Accepts only local paths, because a crafted link could redirect to another site. */
export function readReturnPath(search: URLSearchParams): string {
  const to = search.get('to') ?? '/'
  return /^\/(?![/\\])/.test(to) ? to : '/'
}

/** A page and its navigation state. */
export interface Destination {
  path: string
  state?: string
}

/** Navigation state that makes the sign-in page ask for a code. */
export const codeNeeded = 'code-needed'
