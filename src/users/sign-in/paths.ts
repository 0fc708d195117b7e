/** Path of better-auth's routes and its cookies. */
export const authPath = '/settings/auth'
/** Where users return to after a failed sign-in with their organisation. */
export const signInPage = '/settings/sign-in'
/** Name of an organisation's own provider in paths and rows. */
export const oidcProviderId = 'oidc'

/** Header that passes the client address to better-auth. The server sets it and never accepts it from a client. */
export const addressHeader = 'x-waybill-address'

/** Cookie that recognizes a browser in which a user has signed in before. It grants nothing by itself. */
export const browserCookieName = 'browser'
/** Before the names of all cookies. */
export const cookiePrefix = 'waybill'

/** Short, because the link gives full access and its email arrives within minutes. */
export const resetLinkSeconds = 3600
/** Prefix of the token in the identifier of its row, which is stored as a hash of both. */
export const resetPrefix = 'reset-password:'

/** The path that checks a code of an authenticator app. */
export const codePath = '/two-factor/verify-totp'
/** The paths that start a session with a second factor. */
export const codePaths: ReadonlySet<string> = new Set([codePath, '/two-factor/verify-backup-code'])
