// Rules for the console's files (scripts/check_console): errors, and code that could turn text into markup.
import js from "@eslint/js";

const browser = Object.fromEntries(
  [
    ..."AbortController Blob CustomEvent DOMException Event EventTarget FileReader FormData HTMLElement".split(" "),
    ..."HTMLInputElement HTMLSelectElement Element Node TextDecoder atob matchMedia removeEventListener".split(" "),
    ..."TextDecoderStream URL URLSearchParams addEventListener clearTimeout crypto customElements dispatchEvent".split(
      " ",
    ),
    ..."document fetch history localStorage location navigator requestAnimationFrame scrollTo sessionStorage".split(
      " ",
    ),
    ..."setInterval setTimeout IntersectionObserver ResizeObserver Text cancelAnimationFrame".split(" "),
  ].map((name) => [name, "readonly"]),
);

const forbidden = [
  "innerHTML",
  "outerHTML",
  "insertAdjacentHTML",
  "write",
  "createContextualFragment",
  "setHTMLUnsafe",
];

export default [
  js.configs.recommended,
  {
    files: ["**/*.js"],
    languageOptions: { ecmaVersion: 2024, sourceType: "module", globals: browser },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "no-restricted-properties": ["error", ...forbidden.map((property) => ({ property }))],
      "no-control-regex": "off",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-console": "error",
      "no-shadow": "error",
      "no-var": "error",
      "no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "prefer-const": "error",
      eqeqeq: "error",
    },
  },
];
