/** Path of better-auth's routes and its cookies. */
export const authPath = '/settings/auth'
/** Name of an organisation's own provider in paths and rows. */
export const oidcProviderId = 'oidc'

/** Header that passes the client address to better-auth. The server sets it and never accepts it from a client. */
export const addressHeader = 'x-waybill-address'
