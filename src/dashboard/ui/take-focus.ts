/** As a `ref`: whatever appears here is what comes next. */
export function takeFocus(element: HTMLElement | null): void {
  element?.focus()
}
