// What the chat page uses of the libraries that cmake/modules.cmake makes into modules.

declare module "*/marked.js" {
  export interface Token {
    type: string;
    raw: string;
    text?: string;
    tokens?: Token[];
    depth?: number;
    lang?: string;
    isClosed?: boolean;
    ordered?: boolean;
    start?: number | "";
    loose?: boolean;
    items?: Token[];
    task?: boolean;
    checked?: boolean;
    align?: (string | null)[];
    header?: Token[];
    rows?: Token[][];
    href?: string;
    title?: string | null;
    tag?: string;
  }
  export class Lexer {
    constructor(options: object);
    tokens: Token[] & { links: Record<string, Token> };
    tokenizer: { def(text: string): Token | undefined };
    lex(text: string): Token[];
    static lexInline(text: string): Token[];
  }
  export class Tokenizer {
    emStrong(text: string, masked: string, before: string): Token | undefined;
  }
  export function getDefaults(): object;
}

declare module "*/highlight.js" {
  const library: {
    getLanguage(name: string): object | undefined;
    highlight(name: string, text: string, ignoresErrors: boolean, top?: unknown): { value: string; top: unknown };
  };
  export default library;
}
