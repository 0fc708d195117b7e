/** Where better-auth finds the address of a caller. Set by our server, and never taken from a caller. */
export const addressHeader = 'x-waybill-address'
