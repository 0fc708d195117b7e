import { signInPath } from '../session/way-back.ts'
import { SignInError } from './sign-in-error.ts'
import { postSignIn } from './sign-in-request.ts'

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
  if (typeof url !== 'string') throw new SignInError('The server could not do this now. Try again in a moment.')
  const shownAgain = new Promise<void>((resolve) => addEventListener('pageshow', () => resolve(), { once: true }))
  location.assign(url)
  return shownAgain
}
