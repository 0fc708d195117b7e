// Runs before the first paint, so that a dark page does not flash white. The dashboard uses the same storage key.
{
  const key = 'waybill-colour-scheme'
  const root = document.documentElement
  const stored = localStorage.getItem(key)
  const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
  root.dataset.theme = stored === 'light' || stored === 'dark' ? stored : system
  root.classList.add('js')

  document.addEventListener('DOMContentLoaded', () => {
    const button = document.querySelector('.theme')
    const show = () => {
      const next = root.dataset.theme === 'dark' ? 'light' : 'dark'
      button.textContent = next === 'dark' ? '\u263E' : '\u2600'
      button.ariaLabel = button.title = `Use the ${next} theme`
    }
    button.hidden = false
    button.addEventListener('click', () => {
      root.dataset.theme = root.dataset.theme === 'dark' ? 'light' : 'dark'
      localStorage.setItem(key, root.dataset.theme)
      // Scalar's classes.
      for (const theme of ['light', 'dark'])
        if (document.body.classList.contains('reference'))
          document.body.classList.toggle(`${theme}-mode`, root.dataset.theme === theme)
      show()
    })
    show()
  })
}
