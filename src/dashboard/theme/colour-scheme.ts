/** The local storage key of the colour scheme: `light`, `dark` or `auto`. */
export const colourSchemeKey = 'waybill-colour-scheme'

/** Runs before the first paint, so that a dark page does not flash white. */
export function applyColourScheme(root: HTMLElement): void {
  const chosen = localStorage.getItem(colourSchemeKey)
  const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
  root.dataset['mantineColorScheme'] = chosen === 'light' || chosen === 'dark' ? chosen : system
}
