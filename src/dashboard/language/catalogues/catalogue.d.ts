/** A catalogue, as `translate-dashboard.ts` compiles it. */
declare module '*.po' {
  export const messages: import('@lingui/core').Messages
}
