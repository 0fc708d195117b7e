/** Of the list; a search adds its number. */
export function suppressionsKey(accountId: string) {
  return ['suppressions', accountId] as const
}
