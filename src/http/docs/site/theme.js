// Runs before the first paint, so that a dark page does not flash white. The dashboard uses the same key.
{
  const stored = localStorage.getItem('waybill-colour-scheme')
  const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
  document.documentElement.dataset.theme = stored === 'light' || stored === 'dark' ? stored : system
  document.documentElement.classList.add('js')
}
