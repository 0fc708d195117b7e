/** Where a browser keeps what was chosen: `light`, `dark` or `auto`. */
export const colourSchemeKey = 'waybill-colour-scheme'

/** Before anything is drawn or loaded, so that a dark page does not begin with a white one. */
export function applyColourScheme(root: HTMLElement): void {
  const chosen = localStorage.getItem(colourSchemeKey)
  const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
  root.dataset['mantineColorScheme'] = chosen === 'light' || chosen === 'dark' ? chosen : system
}
