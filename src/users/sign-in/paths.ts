/** Path of better-auth's routes and its cookies. */
export const authPath = '/settings/auth'
/** Name of an organisation's own provider in paths and rows. */
export const oidcProviderId = 'oidc'

/** Header that passes the client address to better-auth. The server sets it and never accepts it from a client. */
export const addressHeader = 'x-waybill-address'

/** A reset gives access to everything, and its email arrives within minutes. */
export const resetLinkSeconds = 3600
/** Before the token in the identifier of its row, which stores a hash of both. */
export const resetPrefix = 'reset-password:'

/** Where a code of an authenticator app is checked. */
export const codePath = '/two-factor/verify-totp'
/** Where a second factor starts a session. */
export const codePaths: ReadonlySet<string> = new Set([codePath, '/two-factor/verify-backup-code'])
