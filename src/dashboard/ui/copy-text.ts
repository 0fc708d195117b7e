/** Whether the text was copied. Outside https, browsers have no clipboard but still obey the old command. */
export async function copyText(text: string): Promise<boolean> {
  try {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text)
      return true
    }
  } catch {
    // Refused by the browser; the old way may still work.
  }
  return copyBySelection(text)
}

function copyBySelection(text: string): boolean {
  const focused = document.activeElement
  const field = document.createElement('textarea')
  field.value = text
  field.style.position = 'fixed'
  field.style.opacity = '0'
  // Within an open dialog: the dialog would take the focus back from outside it.
  const home = (focused?.closest('[role=dialog]') ?? document.body).appendChild(field)
  home.select()
  const copied = document.execCommand('copy')
  home.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return copied
}
