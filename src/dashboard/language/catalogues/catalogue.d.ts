/** A catalogue compiled by `translate-dashboard.ts`. */
declare module '*.po' {
  export const messages: import('@lingui/core').Messages
}
