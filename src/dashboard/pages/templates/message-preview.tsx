import {
  IconAlertCircle,
  IconArrowBackUp,
  IconCheck,
  IconChecks,
  IconClock,
  IconCopy,
  IconExternalLink,
  IconFileText,
  IconMapPin,
  IconPhone,
  IconPhoto,
  IconShoppingBag,
  IconTag,
  IconVideo,
} from '@tabler/icons-react'
import { type ComponentType, Fragment, useState } from 'react'
import type { MessageStatus } from '../../../../contracts/api/message.ts'
import type { Template, TemplateComponent } from '../../../../contracts/api/template.ts'
import classes from './message-preview.module.css'
import { fillOnly, fillText, parseFormatting, type Piece, splitPlaceholders } from './message-text.ts'
import { inWords } from './template-status.ts'

type Icon = ComponentType<{ size?: number }>

const mediaIcons: Partial<Record<string, Icon>> = {
  IMAGE: IconPhoto,
  VIDEO: IconVideo,
  DOCUMENT: IconFileText,
  LOCATION: IconMapPin,
  PRODUCT: IconShoppingBag,
}

const buttonIcons: Partial<Record<string, Icon>> = {
  QUICK_REPLY: IconArrowBackUp,
  URL: IconExternalLink,
  PHONE_NUMBER: IconPhone,
  COPY_CODE: IconCopy,
  OTP: IconCopy,
}

const timeOfDay = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

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
  /** Of a message that was sent. By default, it is read now. */
  sent?: { at: string; status: MessageStatus }
}

/** A message as it appears on a phone. */
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
  const footer = part('FOOTER')
  const buttons = part('BUTTONS')?.buttons ?? []
  const offer = part('LIMITED_TIME_OFFER')?.text
  const cards = part('CAROUSEL')?.cards ?? []
  return (
    <div className={classes.chat} role="figure" aria-label="Message preview">
      <div className={classes.bubble}>
        <div className={classes.content}>
          {/* The language of the message may be written from right to left. */}
          <div lang={language.replace('_', '-')} dir="auto">
            {header && <Header header={header} value={headerText} file={headerFile} />}
            {offer !== undefined && (
              <div className={classes.offer}>
                <IconTag size={16} aria-hidden />
                {offer}
              </div>
            )}
            <div className={classes.body}>
              <FormattedText text={fillText(part('BODY')?.text ?? '', variables)} />
            </div>
            {footer?.text !== undefined && <div className={classes.footer}>{footer.text}</div>}
          </div>
          <div className={classes.time}>
            {timeOfDay.format(sent ? new Date(sent.at) : now)}
            <Ticks status={sent?.status ?? 'read'} />
          </div>
        </div>
        <ButtonLabels buttons={buttons} />
      </div>
      {cards.length > 0 && (
        <ul className={classes.cards} aria-label="Cards" tabIndex={0}>
          {cards.map(({ components: ofCard }, index) => (
            <Card key={index} components={ofCard} file={cardFiles[index]} />
          ))}
        </ul>
      )}
    </div>
  )
}

/** As WhatsApp marks a message: one tick when it is sent, two when it is delivered, coloured when it is read. */
function Ticks({ status }: { status: MessageStatus }) {
  switch (status) {
    case 'pending':
      return <IconClock size={13} aria-hidden />
    case 'sent':
      return <IconCheck size={15} aria-hidden />
    case 'delivered':
      return <IconChecks size={15} aria-hidden />
    case 'read':
      return <IconChecks size={15} className={classes.ticks} aria-hidden />
    case 'failed':
      return <IconAlertCircle size={14} aria-hidden />
  }
}

function Card({ components, file }: { components: TemplateComponent[]; file: PreviewFile | undefined }) {
  const part = (type: string) => components.find((component) => component.type === type)
  const header = part('HEADER')
  const body = part('BODY')?.text
  return (
    <li className={classes.card}>
      <div className={classes.content}>
        {header && <Header header={header} value="" file={file} />}
        {body !== undefined && (
          <div className={classes.body}>
            <FormattedText text={body} />
          </div>
        )}
      </div>
      <ButtonLabels buttons={part('BUTTONS')?.buttons ?? []} />
    </li>
  )
}

function ButtonLabels({ buttons }: { buttons: NonNullable<TemplateComponent['buttons']> }) {
  if (buttons.length === 0) return null
  return (
    <ul className={classes.buttons} aria-label="Buttons">
      {buttons.map(({ type, text }, index) => (
        <li key={index} className={classes.button}>
          <ButtonIcon type={type} />
          {text === undefined || text === '' ? inWords(type) : text}
        </li>
      ))}
    </ul>
  )
}

interface HeaderProps {
  header: TemplateComponent
  value: string
  file: PreviewFile | undefined
}

function Header({ header: { format = 'TEXT', text }, value, file }: HeaderProps) {
  if (format === 'TEXT')
    return (
      <div className={classes.header}>
        <PlainText text={fillOnly(text ?? '', value)} />
      </div>
    )
  if (file?.picture !== undefined) return <img className={classes.picture} src={file.picture} alt={file.name} />
  const Icon = mediaIcons[format] ?? IconFileText
  return (
    <div className={classes.media}>
      <Icon size={28} />
      {file ? `${file.name} (${formatSize(file.size)})` : inWords(format)}
    </div>
  )
}

const mebibyte = 1024 * 1024

/** In WhatsApp's megabytes, whose limits are powers of two. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`
  if (bytes < mebibyte) return `${Math.round(bytes / 1024)} KB`
  return `${Number((bytes / mebibyte).toFixed(1))} MB`
}

function ButtonIcon({ type }: { type: string }) {
  const Icon = buttonIcons[type]
  return Icon ? <Icon size={16} /> : null
}

/** Text with WhatsApp formatting. Empty placeholders are highlighted. */
function FormattedText({ text }: { text: string }) {
  return <Pieces pieces={parseFormatting(text)} />
}

function Pieces({ pieces }: { pieces: Piece[] }) {
  // Pieces of text have no key other than their position.
  return pieces.map((piece, index) => <FormattedPiece key={index} piece={piece} />)
}

function FormattedPiece({ piece }: { piece: Piece }) {
  switch (piece.kind) {
    case 'text':
      return <PlainText text={piece.text} />
    case 'mono':
      return (
        <code className={classes.mono}>
          <PlainText text={piece.text} />
        </code>
      )
    case 'bold':
      return (
        <strong>
          <Pieces pieces={piece.pieces} />
        </strong>
      )
    case 'italic':
      return (
        <em>
          <Pieces pieces={piece.pieces} />
        </em>
      )
    case 'strike':
      return (
        <s>
          <Pieces pieces={piece.pieces} />
        </s>
      )
  }
}

function PlainText({ text }: { text: string }) {
  return splitPlaceholders(text).map(({ text, isPlaceholder }, index) =>
    isPlaceholder ? (
      <mark key={index} className={classes.placeholder}>
        {text}
      </mark>
    ) : (
      <Fragment key={index}>{text}</Fragment>
    ),
  )
}
