import { Fragment } from 'react'
import { splitPlaceholders } from './fill-text.ts'
import { parseFormatting, type Piece } from './parse-formatting.ts'
import classes from './message-preview.module.css'

/** Text as WhatsApp shows it; placeholders that nobody filled in stand out. */
export function FormattedText({ text }: { text: string }) {
  return <Pieces pieces={parseFormatting(text)} />
}

function Pieces({ pieces }: { pieces: Piece[] }) {
  // Text has no identity but its place.
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

export function PlainText({ text }: { text: string }) {
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
