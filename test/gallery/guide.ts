import { galleryPages } from './pages.ts'

export const galleryWidths = [1440, 1280, 390] as const
export const gallerySchemes = ['light', 'dark'] as const
type Width = (typeof galleryWidths)[number]
type Scheme = (typeof gallerySchemes)[number]

export function nameFile(name: string, width: Width, scheme: Scheme): string {
  return `${name}-${width}-${scheme}.webp`
}

/** The page that shows the pictures. */
export function writeGuide(): string {
  const parts = galleryPages.map(({ name, title }) => {
    const url = (width: Width, scheme: Scheme) => nameFile(name, width, scheme)
    const show = (width: Width, scheme: Scheme) => `![${title}, ${width} px, ${scheme}](${url(width, scheme)})`
    return [
      `## ${title}`,
      show(1440, 'light'),
      show(1440, 'dark'),
      `${show(390, 'light')} ${show(390, 'dark')}`,
      `At 1280 px: [light](${url(1280, 'light')}), [dark](${url(1280, 'dark')})`,
    ].join('\n\n')
  })
  return `${introduction}\n\n${parts.join('\n\n')}\n`
}

const introduction = `# Dashboard gallery

Every page of the dashboard at three widths in both colour schemes, with the data of an invented shop. To
review them, use the [checklist](../../docs/contributing/testing.md#review-the-dashboard-design).`
