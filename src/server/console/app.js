// The page's frame.
class App extends HTMLElement {
  connectedCallback() {
    this.textContent = "Baton console";
  }
}
customElements.define("baton-app", App);
