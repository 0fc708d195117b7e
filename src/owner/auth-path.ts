/** Where better-auth answers; its cookies go nowhere else. */
export const authPath = '/settings/auth'
/** The name of an organisation's own provider in paths and rows. */
export const oidcProviderId = 'oidc'
