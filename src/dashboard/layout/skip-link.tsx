/** The first thing that the tab key reaches: past the navigation. */
export function SkipLink() {
  return (
    <a
      className="skip-link"
      href="#main"
      onClick={(event) => {
        // The address stays as it is: it belongs to the router.
        event.preventDefault()
        document.getElementById('main')?.focus()
      }}
    >
      Skip to the content
    </a>
  )
}
