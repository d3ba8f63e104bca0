"""TensorBoard's Graphs tab in a real browser (Debian: apt install chromium chromium-driver)."""

import contextlib
import shutil
import time

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
WINDOW = "--window-size=1360,900"

# TensorBoard's elements are in nested shadow roots: this looks through all of them.
_DEEP = """
const found = [];
const walk = (root) => {
  for (const element of root.querySelectorAll('*')) {
    if (element.matches(arguments[0])) found.push(element);
    if (element.shadowRoot) walk(element.shadowRoot);
  }
};
walk(document);
return found;
"""
_DOUBLE_CLICK = """
const shape = arguments[0].querySelector('.nodeshape');
shape.dispatchEvent(new MouseEvent('dblclick', {bubbles: true, composed: true}));
"""
_CLICK_SHAPE = _DOUBLE_CLICK.replace("dblclick", "click")
_CLICK = "arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true, composed: true}))"


def missing():
    """What is not installed; empty when a browser can be started."""
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "pip install selenium"
    return "" if CHROMIUM and DRIVER else "apt install chromium chromium-driver"


class Graphs:
    """The Graphs tab."""

    def __init__(self, driver):
        self.driver = driver

    def find(self, selector):
        return self.driver.execute_script(_DEEP, selector)

    def wait(self, condition, what, seconds=40):
        """Wait until a condition holds; say what was waited for otherwise."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = condition()
            if found:
                return found
            time.sleep(0.1)
        raise AssertionError(f"waited {seconds} s for {what}; nodes: {sorted(self.nodes())}")

    def nodes(self):
        """The names of all nodes that are drawn -> their elements."""
        script = f"{_DEEP.replace('return found', 'const nodes = found')}"
        script += "return nodes.map(node => [node.getAttribute('data-name'), node]);"
        return dict(self.driver.execute_script(script, "g.node"))

    def fills(self):
        """The names of all nodes that are drawn -> the colours that they are filled with."""
        script = f"{_DEEP.replace('return found', 'const nodes = found')}"
        script += """return nodes.map(node => {
            const shape = node.querySelector('.nodecolortarget');
            return [node.getAttribute('data-name'), shape && getComputedStyle(shape).fill];
        });"""
        return dict(self.driver.execute_script(script, "g.node"))

    def expand(self, name):
        """Open a scope."""
        node = self.wait(lambda: self.nodes().get(name), f"the node {name}")
        self.driver.execute_script(_DOUBLE_CLICK, node)
        below = f"{name}/"
        self.wait(lambda: [n for n in self.nodes() if n.startswith(below)], f"{name} to open")

    def card(self, name):
        """Choose a node; the text of the card that tells about it."""
        node = self.wait(lambda: self.nodes().get(name), f"the node {name}")
        self.driver.execute_script(_CLICK_SHAPE, node)

        def text():
            return [e.text for e in self.find("tf-node-info") if name in e.text]

        return self.wait(text, f"the card of {name}")[0]

    def labels(self):
        """The names that are written at nodes -> the shapes of these: ``rect``, ``ellipse``."""
        script = f"{_DEEP.replace('return found', 'const nodes = found')}"
        script += """return nodes.map(node => [
            node.querySelector(':scope > text.nodelabel').firstChild.textContent.trim(),
            node.querySelector('.nodecolortarget').tagName]);"""
        return dict(self.driver.execute_script(script, "g.node"))

    def tag(self):
        """The tag whose graph is shown."""
        _, menu = self.find("paper-dropdown-menu")  # of runs, of tags
        return menu.get_property("value").strip()

    def is_enabled(self, name):
        """Whether a radio button can be chosen."""
        (button,) = self.wait(lambda: self._radio(name), f"the button {name}")
        return not button.get_property("disabled")

    def choose_tag(self, tag):
        items = {e.get_property("textContent").strip(): e for e in self.find("paper-item")}
        self.driver.execute_script("arguments[0].click()", items[tag])

    def choose(self, name):
        """A radio button: op_graph, conceptual_graph, profile, compute_time, memory, device, ..."""
        (button,) = self.wait(lambda: self._radio(name), f"the button {name}")
        self.driver.execute_script("arguments[0].click()", button)

    def upload(self, path):
        """Show a graph from a file."""
        (field,) = self.find("input[type=file]")
        field.send_keys(str(path))

    def switch_device(self, name):
        """Tick or untick a device in the legend."""
        (box,) = [e for e in self.find("input[type=checkbox]") if e.get_attribute("value") == name]
        self.driver.execute_script("arguments[0].click()", box)

    def _radio(self, name):
        return [e for e in self.find("paper-radio-button") if e.get_property("name") == name]

    def fit(self):
        """Let the graph fill the screen, nothing chosen, and wait for the movement to end."""
        (background,) = self.find("svg#svg")
        self.driver.execute_script(_CLICK, background)
        buttons = {e.get_property("textContent").strip(): e for e in self.find("paper-button")}
        self.driver.execute_script("arguments[0].click()", buttons["Fit to screen"])
        time.sleep(1.5)

    def screenshot(self, path):
        self.driver.save_screenshot(str(path))


@contextlib.contextmanager
def browser():
    """A browser without a window."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", WINDOW):
        options.add_argument(argument)
    driver = _started(lambda: webdriver.Chrome(options=options, service=Service(DRIVER)))
    try:
        yield driver
    finally:
        driver.quit()


def _started(start, attempts=3):
    """On a machine that has much to do, a browser may take longer than its driver waits."""
    from selenium.common.exceptions import WebDriverException

    for _ in range(attempts - 1):
        with contextlib.suppress(WebDriverException):
            return start()
    return start()


def graphs(driver, address):
    """The Graphs tab of a TensorBoard, loaded anew."""
    driver.get("about:blank")
    driver.get(f"{address}#graphs")
    return Graphs(driver)
