import { plural } from '@lingui/core/macro'
import { useState } from 'react'
import { numberFormat } from '../../language/format.ts'
import type { MessageStatus } from '../../../../contracts/api/message.ts'
import type { Template, TemplateComponent } from '../../../../contracts/api/template.ts'
import { Bubble, HeaderMedia, HeaderPicture, HeaderText } from './bubble.tsx'
import { fillOnly, fillText } from './message-text.ts'
import { inWords } from './template-status.ts'

/** A file that the header shows. */
export interface PreviewFile {
  name: string
  /** In bytes. */
  size: number
  /** Data URL of an image. */
  picture?: string
}

interface MessagePreviewProps {
  template: Pick<Template, 'components' | 'language'>
  variables: Readonly<Record<string, string>>
  /** Value of the variable in a text header. */
  headerText: string
  headerFile?: PreviewFile | undefined
  cardFiles?: readonly (PreviewFile | undefined)[]
  /** Time and status of a sent message. By default, now and read. */
  sent?: { at: string; status: MessageStatus }
}

export function MessagePreview({
  template: { components, language },
  variables,
  headerText,
  headerFile,
  cardFiles = [],
  sent,
}: MessagePreviewProps) {
  const [now] = useState(() => new Date())
  const part = (type: string) => components.find((component) => component.type === type)
  const header = part('HEADER')
  return (
    <Bubble
      language={language}
      header={header && <Header header={header} value={headerText} file={headerFile} />}
      offer={part('LIMITED_TIME_OFFER')?.text}
      body={fillText(part('BODY')?.text ?? '', variables)}
      footer={part('FOOTER')?.text}
      buttons={part('BUTTONS')?.buttons ?? []}
      cards={(part('CAROUSEL')?.cards ?? []).map((card, index) => toCard(card.components, cardFiles[index]))}
      at={sent ? new Date(sent.at) : now}
      status={sent?.status ?? 'read'}
    />
  )
}

function toCard(components: TemplateComponent[], file: PreviewFile | undefined) {
  const part = (type: string) => components.find((component) => component.type === type)
  const header = part('HEADER')
  return {
    header: header && <Header header={header} value="" file={file} />,
    body: part('BODY')?.text,
    buttons: part('BUTTONS')?.buttons ?? [],
  }
}

interface HeaderProps {
  header: TemplateComponent
  value: string
  file: PreviewFile | undefined
}

function Header({ header: { format = 'TEXT', text }, value, file }: HeaderProps) {
  if (format === 'TEXT') return <HeaderText text={fillOnly(text ?? '', value)} />
  if (file?.picture !== undefined) return <HeaderPicture source={file.picture} name={file.name} />
  return <HeaderMedia format={format} label={file ? `${file.name} (${formatSize(file.size)})` : inWords(format)} />
}

const mebibyte = 1024 * 1024

/** Formats a size in binary units, like WhatsApp's limits. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return plural(bytes, { one: '# byte', other: '# bytes' })
  if (bytes < mebibyte) return `${Math.round(bytes / 1024)} KB`
  return `${numberFormat({ maximumFractionDigits: 1 }).format(bytes / mebibyte)} MB`
}
