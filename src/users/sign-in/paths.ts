/** Where better-auth answers; its cookies go nowhere else. */
export const authPath = '/settings/auth'
/** The name of an organisation's own provider in paths and rows. */
export const oidcProviderId = 'oidc'

/** Where better-auth finds the address of a caller. Set by our server, and never taken from a caller. */
export const addressHeader = 'x-waybill-address'
