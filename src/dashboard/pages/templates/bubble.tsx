import { t } from '@lingui/core/macro'
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
import { type ComponentType, Fragment, type ReactNode } from 'react'
import type { MessageStatus } from '../../../../contracts/api/message.ts'
import { dateFormat } from '../../language/format.ts'
import classes from './message-preview.module.css'
import { parseFormatting, type Piece, splitPlaceholders } from './message-text.ts'
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

interface BubbleCard {
  header?: ReactNode
  body: string | undefined
  buttons: readonly BubbleButton[]
}

interface BubbleButton {
  type: string
  text?: string | undefined
}

interface BubbleProps extends BubbleCard {
  language: string
  offer: string | undefined
  footer: string | undefined
  cards: readonly BubbleCard[]
  at: Date
  status: MessageStatus
}

/** A message as it appears on a phone. */
export function Bubble({ language, header, offer, body = '', footer, buttons, cards, at, status }: BubbleProps) {
  return (
    <div className={classes.chat} role="figure" aria-label={t`Message preview`}>
      <div className={classes.bubble}>
        <div className={classes.content}>
          {/* The message may be in a right-to-left language. */}
          <div lang={language.replace('_', '-')} dir="auto">
            {header}
            {offer !== undefined && (
              <div className={classes.offer}>
                <IconTag size={16} aria-hidden />
                {offer}
              </div>
            )}
            <div className={classes.body}>
              <FormattedText text={body} />
            </div>
            {footer !== undefined && <div className={classes.footer}>{footer}</div>}
          </div>
          <div className={classes.time}>
            {dateFormat({ hour: 'numeric', minute: '2-digit' }).format(at)}
            <Ticks status={status} />
          </div>
        </div>
        <ButtonLabels buttons={buttons} />
      </div>
      {cards.length > 0 && (
        <ul className={classes.cards} aria-label={t`Cards`} tabIndex={0}>
          {cards.map((card, index) => (
            <Card key={index} {...card} />
          ))}
        </ul>
      )}
    </div>
  )
}

/** WhatsApp's marks: one tick for sent, two for delivered, coloured for read. */
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

function Card({ header, body, buttons }: BubbleCard) {
  return (
    <li className={classes.card}>
      <div className={classes.content}>
        {header}
        {body !== undefined && (
          <div className={classes.body}>
            <FormattedText text={body} />
          </div>
        )}
      </div>
      <ButtonLabels buttons={buttons} />
    </li>
  )
}

function ButtonLabels({ buttons }: { buttons: readonly BubbleButton[] }) {
  if (buttons.length === 0) return null
  return (
    <ul className={classes.buttons} aria-label={t`Buttons`}>
      {buttons.map(({ type, text }, index) => (
        <li key={index} className={classes.button}>
          <ButtonIcon type={type} />
          {text === undefined || text === '' ? inWords(type) : text}
        </li>
      ))}
    </ul>
  )
}

/** The header text of a message. */
export function HeaderText({ text }: { text: string }) {
  return (
    <div className={classes.header}>
      <PlainText text={text} />
    </div>
  )
}

export function HeaderPicture({ source, name }: { source: string; name: string }) {
  return <img className={classes.picture} src={source} alt={name} />
}

interface HeaderMediaProps {
  /** Such as `IMAGE`. */
  format: string
  /** The kind of media by default. */
  label?: string | undefined
}

/** A placeholder for header media, which are not loaded. */
export function HeaderMedia({ format, label = inWords(format) }: HeaderMediaProps) {
  const Icon = mediaIcons[format] ?? IconFileText
  return (
    <div className={classes.media}>
      <Icon size={28} />
      {label}
    </div>
  )
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
  // Text pieces have no better key than their index.
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
